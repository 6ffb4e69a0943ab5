/// The routes of a node, one class a group, and which group serves which route.
@NullMarked
package io.penstock.wire.server.route;

import org.jspecify.annotations.NullMarked;
