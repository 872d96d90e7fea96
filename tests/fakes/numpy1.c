/* An extension as it was compiled for numpy 1: what import_array() of its headers does, asked of the numpy that is here. */
#include <Python.h>

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_native", NULL, -1, NULL, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__native(void) {
    PyObject *numpy = PyImport_ImportModule("numpy.core._multiarray_umath");
    PyObject *api = numpy ? PyObject_GetAttrString(numpy, "_ARRAY_API") : NULL;
    if (!api) {
        PyErr_Print();
        PyErr_SetString(PyExc_ImportError, "numpy.core.multiarray failed to import");
        return NULL;
    }
    return PyModule_Create(&module);
}
