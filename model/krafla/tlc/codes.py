"""The message codes and exit statuses of TLC that this wrapper acts on.

Named and grouped as in ``tlc2.output.EC`` of the TLA+ tools. A code that stands in no
group here and comes with the class of an error makes the outcome unknown.
"""

from __future__ import annotations

from enum import IntEnum

__all__ = [
    "ASSUMPTION",
    "CONFIG_ERRORS",
    "ERROR_CLASSES",
    "EVALUATION_ERRORS",
    "EXPLANATIONS",
    "OUT_OF_MEMORY",
    "SPEC_ERRORS",
    "TOO_MANY_STATES",
    "Code",
    "MessageClass",
]


class MessageClass(IntEnum):
    """The second number of a message's head."""

    NONE = 0
    ERROR = 1
    BUG = 2
    WARNING = 3
    STATE = 4


ERROR_CLASSES = frozenset({MessageClass.ERROR, MessageClass.BUG})


class Code(IntEnum):
    """Codes with a meaning of their own."""

    GENERAL = 1000
    ASSERT_FAILED = 2132
    INVARIANT_VIOLATED_INITIAL = 2107
    PROPERTY_VIOLATED_INITIAL = 2108
    INVARIANT_VIOLATED = 2110
    INVARIANT_EVALUATION_FAILED = 2111
    ACTION_PROPERTY_VIOLATED = 2112
    ACTION_PROPERTY_EVALUATION_FAILED = 2113
    DEADLOCK = 2114
    TEMPORAL_PROPERTY_VIOLATED = 2116
    BACK_TO_STATE = 2122
    IN_INITIAL_STATE = 2102
    NESTED_EXPRESSION = 2103
    STATE_PRINT_1 = 2216
    STATE_PRINT = 2217
    STUTTERING = 2218
    SANY_END = 2219
    SANY_START = 2220
    FINISHED = 2186
    MODE_CHECK = 2187
    MODE_SIMULATE = 2188
    INIT_GENERATED_1 = 2190
    INIT_GENERATED_2 = 2191
    INIT_GENERATED_3 = 2207
    INIT_GENERATED_4 = 2208
    CHECKING_TEMPORAL = 2192
    SUCCESS = 2193
    SEARCH_DEPTH = 2194
    STATS = 2199
    PROGRESS = 2200
    PROGRESS_SIMULATION = 2209
    STATS_SIMULATION = 2210
    COVERAGE_START = 2201
    COVERAGE_END = 2202
    COVERAGE_VALUE = 2221
    COVERAGE_NEXT = 2772
    COVERAGE_INIT = 2773
    COVERAGE_PROPERTY = 2774
    COVERAGE_VALUE_COST = 2775
    # Instead of COVERAGE_END once a run has taken five minutes.
    COVERAGE_END_OVERHEAD = 2777
    COVERAGE_CONSTRAINT = 2778
    VERSION = 2262


ASSUMPTION = frozenset({2104, 2105})
OUT_OF_MEMORY = frozenset({1001, 1002, 1003})
TOO_MANY_STATES = frozenset({2172, 2282})
SPEC_ERRORS = frozenset({2171, 3002, 4000, 4001, 4002})
CONFIG_ERRORS = frozenset(
    # The cfg file itself, then its statements about the spec.
    {*range(5001, 5007), *range(2222, 2246), 2146, 2257, 2281, 2301}
)
# Values used against their type, unfinished states, undefined results, and their kin.
EVALUATION_ERRORS = (
    frozenset(
        {1005, 2106, 2109, 2113, 2115, 2131, 2139, 2140, 2141, 2142, 2143, 2144, 2145}
        | {2147, 2148, 2154, 2155, 2156, 2157, 2158, 2164, 2165, 2169, 2170, 2176, 2177, 2178, 2179}
        | {2180, 2181, 2182, 2183, 2184, 2213, 2214, 2215, 2246, 2247, 2248, 2249, 2250, 2251, 2252}
        | {2253, 2255, 2260, 2261, 2265, 2266, 2280, 2283, 2300}
    )
    - CONFIG_ERRORS
)
# Messages of the error class that explain the error before them.
EXPLANATIONS = frozenset({2103, 2121, 2264, 2102, 2120, 2501, 2502})
