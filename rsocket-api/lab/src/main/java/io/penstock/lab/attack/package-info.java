/// `penstock attack`: hostile clients against a running node, and a well-behaved one beside them that measures what
/// others notice.
@NullMarked
package io.penstock.lab.attack;

import org.jspecify.annotations.NullMarked;
