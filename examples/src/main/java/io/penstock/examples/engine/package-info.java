/// An engine that knows nothing of Penstock, and the adapter that keeps its KV cache in a node.
@NullMarked
package io.penstock.examples.engine;

import org.jspecify.annotations.NullMarked;
