// The functions of a vertex program, which are compiled by Numba: put after the text of a kernel file.

#define EMULATED_FUNCTION(result, name, parameters, arguments)                    \
    extern "C" void* emulated_##name = nullptr;                                   \
    extern "C" result name parameters {                                           \
        return reinterpret_cast<result(*) parameters>(emulated_##name) arguments; \
    }

#if SCATTER_ARGUMENTS == 1
EMULATED_FUNCTION(value_t, trav_scatter, (value_t a), (a))
#elif SCATTER_ARGUMENTS == 2
EMULATED_FUNCTION(value_t, trav_scatter, (value_t a, degree_t b), (a, b))
#endif
#if GATHER_ARGUMENTS == 1
EMULATED_FUNCTION(value_t, trav_gather, (value_t a), (a))
#elif GATHER_ARGUMENTS == 2
EMULATED_FUNCTION(value_t, trav_gather, (value_t a, weight_t b), (a, b))
#endif
#if APPLY_ARGUMENTS == 1
EMULATED_FUNCTION(value_t, trav_apply, (value_t a), (a))
#elif APPLY_ARGUMENTS == 2
EMULATED_FUNCTION(value_t, trav_apply, (value_t a, value_t b), (a, b))
#elif APPLY_ARGUMENTS == 3
EMULATED_FUNCTION(value_t, trav_apply, (value_t a, value_t b, double c), (a, b, c))
#elif APPLY_ARGUMENTS == 4
EMULATED_FUNCTION(value_t, trav_apply, (value_t a, value_t b, double c, const double* d), (a, b, c, d))
#endif
#if ACTIVE_ARGUMENTS == 1
EMULATED_FUNCTION(i32, trav_active, (value_t a), (a))
#elif ACTIVE_ARGUMENTS == 2
EMULATED_FUNCTION(i32, trav_active, (value_t a, value_t b), (a, b))
#endif
#if TOTAL_ARGUMENTS == 1
EMULATED_FUNCTION(double, trav_total, (value_t a), (a))
#elif TOTAL_ARGUMENTS == 2
EMULATED_FUNCTION(double, trav_total, (value_t a, degree_t b), (a, b))
#endif
