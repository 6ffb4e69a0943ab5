/// The fixed parts of a stack: its levels and its options.
@NullMarked
package io.penstock.stack.shape;

import org.jspecify.annotations.NullMarked;
