/// Copies of blocks between the levels of a stack: queues, slots, memory, and what a failed copy costs.
@NullMarked
package io.penstock.stack.move;

import org.jspecify.annotations.NullMarked;
