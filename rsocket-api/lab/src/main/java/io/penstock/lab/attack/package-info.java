/// `penstock attack`: hostile clients against a running node, and a well-behaved client that measures their effect on
/// others.
@NullMarked
package io.penstock.lab.attack;

import org.jspecify.annotations.NullMarked;
