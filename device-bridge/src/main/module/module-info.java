/// Blocks in device memory.
module io.penstock.device {
  requires transitive io.penstock;
  requires static transitive org.jspecify;

  exports io.penstock.device;
  exports io.penstock.device.ascend;
  exports io.penstock.device.ascend.failure;
  exports io.penstock.device.memory;
  exports io.penstock.device.sidecar;
  exports io.penstock.device.sidecar.client;
  exports io.penstock.device.sidecar.server;
  exports io.penstock.device.sim;
}
