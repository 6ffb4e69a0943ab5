/// A transformer as an engine behind HTTP: prefill and decode in processes of their own, whose KV cache goes from one
/// to the other over Penstock, with answers that are equal bit for bit.
@NullMarked
package io.penstock.examples.engine.transformer;

import org.jspecify.annotations.NullMarked;
