/* A library of which the first instruction is none that this processor has, as TensorFlow's is where AVX lacks. */
__attribute__((constructor)) static void loaded(void) { __builtin_trap(); }
