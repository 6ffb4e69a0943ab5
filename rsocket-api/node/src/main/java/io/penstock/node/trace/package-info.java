/// Traces of LLM requests: read, written and generated in the Mooncake form.
///
/// One JSON object a line: `timestamp` (ms from the start), `input_length` and `output_length` (tokens), `hash_ids`
/// (one id for each block of 512 tokens; an id stands for its block *and all before it*, so equal ids mean equal
/// prefixes). An id is an unsigned integer of 64 bits. Lines of the AIPerf form may have a `session_id`, and in place
/// of a timestamp a `delay`; they may leave out `output_length`.
@NullMarked
package io.penstock.node.trace;

import org.jspecify.annotations.NullMarked;
