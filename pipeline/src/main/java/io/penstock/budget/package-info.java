/// Counted budgets with a bounded, fair wait: bytes in flight, slots of an arena, calls of a device. Shared among the
/// modules of this project.
@NullMarked
package io.penstock.budget;

import org.jspecify.annotations.NullMarked;
