/// The lock of a stack, the decisions that are made under it, and the words in which a decision speaks: resident and
/// pending blocks, figures, moments at which something ends. Knows no part of the stack.
@NullMarked
package io.penstock.stack.decision;

import org.jspecify.annotations.NullMarked;
