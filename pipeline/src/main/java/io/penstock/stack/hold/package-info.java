/// What keeps blocks in a stack: read leases, pins and groups, with their bounds and ends.
@NullMarked
package io.penstock.stack.hold;

import org.jspecify.annotations.NullMarked;
