/// Blocks in device memory.
module io.penstock.device {
  requires transitive io.penstock;
  requires static transitive org.jspecify;

  exports io.penstock.device;
}
