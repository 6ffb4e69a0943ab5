/// The engines behind the gateway: their roles, their health, and how each one comes and goes.
@NullMarked
package io.penstock.gateway.instance;

import org.jspecify.annotations.NullMarked;
