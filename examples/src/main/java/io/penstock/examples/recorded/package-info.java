/// Records flows in memory, and verifies what they did: for tests of code that embeds Penstock.
@NullMarked
package io.penstock.examples.recorded;

import org.jspecify.annotations.NullMarked;
