/// The nodes of a prefill and of a decode: their ranks serve blocks, register, and send the cache of a request or
/// receive it. Each node is a process, or all are in one.
@NullMarked
package io.penstock.examples.disaggregated.node;

import org.jspecify.annotations.NullMarked;
