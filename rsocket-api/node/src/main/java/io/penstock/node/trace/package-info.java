/// Traces of LLM requests: read, written and generated in the Mooncake form.
///
/// One JSON object a line: `timestamp` (ms from the start), `input_length` and `output_length` (tokens), `hash_ids`
/// (one id for each block of 512 tokens; an id stands for its block *and all before it*, so equal ids mean equal
/// prefixes).
@NullMarked
package io.penstock.node.trace;

import org.jspecify.annotations.NullMarked;
