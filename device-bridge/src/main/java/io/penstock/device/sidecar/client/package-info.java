/// The side of a process without devices. Start with [SideCarClient].
package io.penstock.device.sidecar.client;
