/// KV events of engines and nodes, in the form of vLLM: they keep the index of blocks that the choice of instances
/// reads.
@NullMarked
package io.penstock.gateway.events;

import org.jspecify.annotations.NullMarked;
