/// `penstock bench sessions`: what a pool that knows sessions keeps for turns that come back after a pause.
@NullMarked
package io.penstock.lab.bench.session;

import org.jspecify.annotations.NullMarked;
