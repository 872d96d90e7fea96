"""The same as in several.py in German, Chinese, Russian, Spanish, French and Portuguese."""

from __future__ import annotations

import re

from ..patterns import Pattern

_FLAGS = re.IGNORECASE
_CARDS = r"(?:gpus?|grafikkarten|karten|rtx|gtx|\u0432\u0438\u0434\u0435\u043e\u043a\u0430\u0440\u0442\w*|\u043a\u0430\u0440\u0442\w*|tarjetas|gr\u00e1ficas|placas|cartes)"
_COUNT = r"(?:zwei(?:en)?|drei|vier|beiden?|mehreren?|\u0434\u0432[\u0430\u0443\u0435]\w?|\u0434\u0432\u0443\u0445|\u043e\u0431\u0435\w{0,2}|\u0442\u0440\u0438|\u0447\u0435\u0442\u044b\u0440\w{1,3}|\u043d\u0435\u0441\u043a\u043e\u043b\u044c\u043a\w{1,3}|dos|ambas|varias|tres|cuatro|deux|plusieurs|trois|quatre|duas|dois|v\u00e1rias|quatro|tr\u00eas)"
SEVERAL = Pattern(
    rf"\b{_COUNT} (?:[\w-]{{1,12}} ){{0,2}}?{_CARDS}|\b[2-8] (?:grafikkarten|karten|\u0432\u0438\u0434\u0435\u043e\u043a\u0430\u0440\u0442\w*|\u043a\u0430\u0440\u0442\w*|tarjetas|gr\u00e1ficas|placas|cartes)"
    r"|(?:显卡|GPU|卡)有(?:两|多|四|八|三|[2-8])(?:块|张|个)|(?:两|双|多|四|八|三|[2-8]) ?(?:块|张|个)(?:[\w.]{1,10} ?)?(?:GPU|显卡|卡|ti(?![a-z]))|(?:两|双|多|四|八|三)(?:GPU|显卡|卡)|[0-7],[1-7](?:,[1-7])?号卡|\bsur (?:deux|trois|quatre)\b|\b(?:zweite[nr]?|andere[nr]?) (?:gpu|karte|grafikkarte)|\b\u0432\u0442\u043e\u0440\w{2} (?:\u0432\u0438\u0434\u0435\u043e\u043a\u0430\u0440\u0442|gpu|\u043a\u0430\u0440\u0442)|\b(?:segunda|otra|outra) (?:gpu|placa|tarjeta)|\b(?:deuxi\u00e8me|seconde?|autre) (?:gpu|carte)|第二(?:块|张|个)(?:卡|显卡|GPU)|第一(?:块|张)[^。\n]{0,12}第二(?:块|张)|\b\u0438\u0445 (?:\u0434\u0432\u0435|\u0442\u0440\u0438|\u0447\u0435\u0442\u044b\u0440\u0435)\b|[2-8两多三四八几]台(?:机器|服务器|主机)|多机(?!器)|多个?GPU|\b(?:mehrere|\d{1,3}) (?:worker|rechner|maschinen|knoten)|\b\u0432\u043e\u0440\u043a\u0435\u0440\w*|\b(?:zwei|vier|drei) (?:grafik)?karten"
    r"|gpu(?:를|가|는|을)? ?(?:[2-8]|두|세|네|여러) ?(?:개|장|대)|(?:[2-8]|두|세|네|여러) ?(?:개|장|대)의? ?(?:gpu|그래픽)|(?:멀티|다중|나머지|다른|두 ?번째) ?(?:gpu|그래픽)|gpu ?[1-7]번|[1-7]번 ?gpu"
    r"|(?:gpu|グラボ)[がを]?(?:[2-8\uff12-\uff18二三四]|複数)枚|(?:[2-8\uff12-\uff18二三四]|複数)枚の(?:gpu|グラボ)|(?:マルチ|複数の?|他の|もう1枚の|2枚目の)(?:gpu|グラボ)",
    _FLAGS,
)
"""Several GPUs."""
ONE_WORKS = Pattern(
    r"只用到?了?(?:0|第一)号?(?:卡|显卡|GPU|张|块)|[1-7]号(?:卡|GPU)[^。\n]{0,6}没有?(?:用|使用)|只(?:有|用|使用|能用|会用|在)?了?(?:其中)?(?:第)?一(?:块|张|个)(?!(?:卡|显卡|GPU)?(?:的时候|时))|(?:其[他它余]|另(?:外)?[一几]?(?:块|张|个)?|第二(?:块|张|个)?)(?:GPU|显卡|卡|的)?[^。\n]{0,20}(?:(?<![\d.])0 ?%|空闲|闲置|没有?(?:使用|用|工作))|利用率(?:一直)?(?:为|是)? ?0"
    r"|\bnur (?:auf )?(?:eine[rn]?|die erste)\b(?! kern| thread)[^.\n]{0,40}\b(?:be?nutzt|genutzt|verwendet|rechnet|arbeitet|ausgelastet|davon)\b|\b(?:rechnet|arbeitet|be?nutzt|verwendet|l\u00e4uft|trainiert) (?:\w+ ){0,3}?nur (?:auf )?(?:eine[rn]?|die erste|der ersten)\b(?! kern| thread| cpu)|\bdie (?:andere|zweite)n?\b[^.\n]{0,30}(?:\b0 ?%|unt\u00e4tig|im leerlauf|nichts)"
    r"|\b\u0442\u043e\u043b\u044c\u043a\u043e (?:\u043d\u0430 )?(?:\u043e\u0434\u043d\w{1,2}|\u043f\u0435\u0440\u0432\w{2}) (?:\u0432\u0438\u0434\u0435\u043e\u043a\u0430\u0440\u0442|gpu|\u043a\u0430\u0440\u0442)|(?:\u0432\u0442\u043e\u0440\w{2}|\u043e\u0441\u0442\u0430\u043b\u044c\u043d\u044b\w|\u0434\u0440\u0443\u0433\w{2,3})[^.\n]{0,16}(?:\u043f\u0440\u043e\u0441\u0442\u0430\u0438\u0432\u0430|\u043d\u0435 (?:\u0437\u0430\u0434\u0435\u0439\u0441\u0442\u0432|\u0437\u0430\u0433\u0440\u0443\u0436\u0435\u043d\u0430|\u0438\u0441\u043f\u043e\u043b\u044c\u0437\u0443|\u0440\u0430\u0431\u043e\u0442\u0430|\u0437\u0430\u0433\u0440\u0443\u0436)|(?<![\d.])0 ?%)"
    r"|\b(?:solo|s\u00f3lo|solamente) (?:se )?(?:usa|utiliza|trabaja) (?:en )?(?:una|la primera)\b|\b(?:usa|utiliza|trabaja) (?:solo|s\u00f3lo|solamente) (?:en )?(?:una|la primera)\b|\b(?:la otra|la segunda)\b[^.\n]{0,30}(?:\b0 ?%|parada|inactiva|no (?:hace|se usa|trabaja))|\bno (?:usa|utiliza) la segunda\b"
    r"|\b(?:utilise|travaille|tourne|calcule) (?:\w+ ){0,3}?(?:qu'|que |seulement )(?:sur )?(?:une?|le premier|la premi\u00e8re)\b|\b(?:un seul|une seule) (?:gpu|carte|des deux)\b[^.\n]{0,20}\b(?:utilis\u00e9|travaille|actif)|\b(?:l'autre|la deuxi\u00e8me|le deuxi\u00e8me|le second|la seconde|deuxi\u00e8me carte)\b[^.\n]{0,30}(?:\b0 ?%|inacti|inutilis\u00e9|pas utilis\u00e9|ne (?:fait|sert))"
    r"|\b(?:usa|utiliza|treina|roda) (?:\w+ )?(?:s\u00f3|apenas|somente) (?:em |na )?(?:uma|a primeira)\b|\b(?:s\u00f3|apenas|somente) uma (?:das? )?(?:\w+ )?(?:gpus?|placas?)\b|\b(?:a outra|a? ?segunda (?:placa|gpu))\b[^.\n]{0,20}(?:\b0 ?%|parada|ociosa|inativa|n\u00e3o (?:\u00e9|est\u00e1 sendo) (?:usada|utilizada))"
    r"|(?:하나|[01]개|한 ?(?:개|장)|첫 ?번째|gpu ?:?0번?|(?<!\d)0번)(?:의)?(?: ?gpu)?만 ?(?:[^\s.]{0,4} )?(?:사용(?!하고 싶|하려|하는 방법|하도록|할|하게)|돌아|쓰(?:이|여|는|고 있)|작동|동작|일을|100)|(?:gpu ?:?[1-7]번|(?<!\d)[1-7]번(?: gpu)?|나머지|다른 gpu|두 ?번째)[^.\n]{0,30}?(?:(?<![\d.])0 ?%|놀고|사용(?:되|이 되|하)지 ?않|사용 ?안|안 ?(?:쓰|돌)|쉬고)"
    r"|(?:[1\uff11一]枚|[1一]つ|片方|gpu ?:?0|0番)(?:の)?(?:gpu|グラボ)?(?:しか|だけ|のみ)(?!を?使いたい|を?使う|を?使用する|を?使用したい)[^。\n]{0,6}(?:使|動|利用|稼働)|(?:他の|もう(?:片方|[1一]枚)|残りの?|2枚目|gpu ?:?[1-7](?=[のがは]))(?:の)?(?:gpu)?[^。\n]{0,20}(?:(?<![\d.])0 ?[%\uff05]|使(?:わ|用さ)れて?い?(?:ない|ません)|動いて?い?(?:ない|ません)|遊んで)",
    _FLAGS,
)
"""One of them works."""
NO_FASTER = Pattern(
    r"\b\u0443\u0441\u043a\u043e\u0440\u0435\u043d\u0438\u044f \u043d\u0435\u0442|\u043d\u0435\u0442 \u0443\u0441\u043a\u043e\u0440\u0435\u043d\u0438\u044f|\u0441\u043a\u043e\u0440\u043e\u0441\u0442\u044c [^.\n]{0,24}\u043a\u0430\u043a (?:\u043d\u0430|\u0441) \u043e\u0434\u043d|比一台[^。\n]{0,14}慢|比单(?:机|台)[^。\n]{0,6}慢|(?:跟|和|与|比)(?:一(?:张|块)|单)(?:卡|GPU)?[^。\n]{0,6}(?:差不多|一样|慢)|没有?(?:任何)?(?:提升|提高|加速|变快|加快)|反而[^。\n]{0,4}慢|(?:比|和|与)(?:单卡|单GPU|一块|单块)[^。\n]{0,10}(?:慢|一样)|更慢|变慢|速度(?:反而)?(?:慢|下降|不变)"
    r"|\b(?:nicht|kaum) schneller\b|\b(?:genau ?so|ebenso) (?:lange|schnell|langsam) (?:wie|auf)\b|\blangsamer\b|\bdauert (?:[^.\n]{0,30} )?l\u00e4nger\b|\bl\u00e4nger als (?:mit|auf)\b|\btarda el doble\b|\u043c\u0435\u0434\u043b\u0435\u043d\u043d\u0435\u0435|\u043d\u0435 \u0431\u044b\u0441\u0442\u0440\u0435\u0435|\u0434\u043e\u043b\u044c\u0448\u0435|\u043d\u0435 \u0443\u0441\u043a\u043e\u0440\u044f|\bm\u00e1s (?:lent[oa]|despacio)\b|\btarda m\u00e1s\b|\bno es m\u00e1s r\u00e1pid|\bmism[oa] (?:velocidad|tiempo)\b|\bno va m\u00e1s r\u00e1pid|\btarda lo mismo\b|\u0441\u043a\u043e\u0440\u043e\u0441\u0442\u044c (?:\u043e\u0431\u0443\u0447\u0435\u043d\u0438\u044f )?(?:\u0442\u0430 \u0436\u0435|\u043d\u0435 (?:\u0432\u044b)?\u0440\u043e\u0441|\u043d\u0435 \u0443\u0432\u0435\u043b\u0438\u0447)"
    r"|\bpas plus (?:rapide|vite)\b|\bplus lent|\bautant de temps\b|\bm\u00eame (?:temps|vitesse|dur\u00e9e)\b|\bmais (?:lent[oa]|devagar)\b|\bn\u00e3o (?:\u00e9|fica) mais r\u00e1pid|\bmesm[oa] (?:tempo|velocidade)\b"
    r"|속도(?:가|는)? ?(?:같|동일|똑같|비슷|더 ?느|느려|차이가 없)|더 ?느(?:려|립)|빨라지지 ?않|速く(?:なら|なりませ)|速度(?:が|は)(?:変わら|変わり|同じ)|遅く(?:なる|なり|なった)",
    _FLAGS,
)
"""No faster."""
COMES_DOWN = Pattern(
    r"(?:电脑|主机|机器|服务器|系统)[^。\n]{0,10}(?:重启(?!后)|关机|断电|死机)|\b(?:rechner|pc|computer|server)\b[^.\n]{0,40}\b(?:startet [^.\n]{0,24}\bneu|schaltet sich [^.\n]{0,12}(?:ab|aus)|geht [^.\n]{0,40}?aus|st\u00fcrzt [^.\n]{0,20}ab)\b"
    r"|(?:\u043a\u043e\u043c\u043f\u044c\u044e\u0442\u0435\u0440|\u0441\u0435\u0440\u0432\u0435\u0440|\u043c\u0430\u0448\u0438\u043d\u0430|\u0441\u0438\u0441\u0442\u0435\u043c\u0430)[^.\n]{0,20}(?:\u043f\u0435\u0440\u0435\u0437\u0430\u0433\u0440\u0443\u0436\u0430\u0435\u0442\u0441\u044f|\u0432\u044b\u043a\u043b\u044e\u0447\u0430\u0435\u0442\u0441\u044f|\u0432\u044b\u0440\u0443\u0431\u0430\u0435\u0442)|\b(?:ordenador|computador\w?|pc|equipo|m\u00e1quina|servidor)\b[^.\n]{0,30}\b(?:se )?(?:reinicia|apaga|desliga)\b|\b(?:ordinateur|pc|machine|serveur)\b[^.\n]{0,24}(?:red\u00e9marre|s'\u00e9teint)",
    _FLAGS,
)
"""The machine goes down."""
HANGS = Pattern(
    r"卡住|卡死|卡在|死锁|挂起|\b(?:bleibt|h\u00e4ngt)\b[^.\n]{0,60}\b(?:h\u00e4ngen|stehen|fest)\b|\u0437\u0430\u0432\u0438\u0441\u0430\u0435\u0442|\u0432\u0438\u0441\u043d\u0435\u0442|\bse (?:cuelga|queda (?:colgad|bloquead|congelad)[oa]|bloquea)\b|\breste bloqu\u00e9|\bse (?:bloque|fige)\b|\bfica (?:travad|pres)[oa]\b",
    _FLAGS,
)
"""It does not go on."""
SLOW = Pattern(
    r"(?:很|非常|太|特别|比较)慢|训练慢|速度慢|\b(?:sehr|zu|extrem|so) langsam\b|\b(?:\u043e\u0447\u0435\u043d\u044c|\u0441\u043b\u0438\u0448\u043a\u043e\u043c) \u043c\u0435\u0434\u043b\u0435\u043d\u043d\u043e|\b(?:muy|demasiado|muito) lent[oa]|\btr\u00e8s lent",
    _FLAGS,
)
"""It is slow."""
