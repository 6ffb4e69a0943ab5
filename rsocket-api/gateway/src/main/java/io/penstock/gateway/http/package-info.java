/// The HTTP endpoints: routes, limits, API keys, quotas and the administration of instances.
@NullMarked
package io.penstock.gateway.http;

import org.jspecify.annotations.NullMarked;
