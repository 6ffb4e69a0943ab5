/// The same inputs through the classes of Penstock, in virtual time.
@NullMarked
package io.penstock.examples.incidents.ours;

import org.jspecify.annotations.NullMarked;
