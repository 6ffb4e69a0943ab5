/// Stories that take place in several processes start the other ones here.
@NullMarked
package io.penstock.examples.process;

import org.jspecify.annotations.NullMarked;
