/// Jlama, an inference engine in Java, over Penstock: its KV rows as blocks, an adapter, and commands around them.
@NullMarked
package io.penstock.examples.jlama;

import org.jspecify.annotations.NullMarked;
