/// The admin endpoints over HTTP: `/metrics` for Prometheus, `/health` for probes, `/whatif` for estimates.
@NullMarked
package io.penstock.node.admin;

import org.jspecify.annotations.NullMarked;
