/// KV events in the form of vLLM: MessagePack over ZeroMQ, so that routers which index vLLM's caches can index a node.
@NullMarked
package io.penstock.node.kvevents;

import org.jspecify.annotations.NullMarked;
