/// What a recording costs the node that makes it.
@NullMarked
package io.penstock.lab.bench.recording;

import org.jspecify.annotations.NullMarked;
