/// The admin endpoints over HTTP: `/metrics` for Prometheus, `/health` for probes.
@NullMarked
package io.penstock.node.admin;

import org.jspecify.annotations.NullMarked;
