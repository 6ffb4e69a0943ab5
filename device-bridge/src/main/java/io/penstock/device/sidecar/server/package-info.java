/// The side of the node, which has the devices: clients, their regions, and copies. Start with [SideCarServer].
package io.penstock.device.sidecar.server;
