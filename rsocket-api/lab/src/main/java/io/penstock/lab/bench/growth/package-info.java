/// What CPU costs beside growth.
@NullMarked
package io.penstock.lab.bench.growth;

import org.jspecify.annotations.NullMarked;
