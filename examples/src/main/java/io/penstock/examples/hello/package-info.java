/// The KV cache of a prompt goes into a node and comes back: the example of the README.
@NullMarked
package io.penstock.examples.hello;

import org.jspecify.annotations.NullMarked;
