/// The kernel: words, memory, ports, stages and flows.
@SuppressWarnings({"module", "requires-transitive-automatic"}) // manifests name them; modules built later
module io.penstock {
  requires transitive reactor.core;
  requires transitive org.reactivestreams;
  requires transitive micrometer.core;
  requires static transitive org.jspecify;

  exports io.penstock;
  exports io.penstock.block;
  exports io.penstock.tier;
  exports io.penstock.tier.spi;
  exports io.penstock.stage;
  exports io.penstock.flow;
  exports io.penstock.meter;
  exports io.penstock.pool;
  exports io.penstock.system to io.penstock.device, io.penstock.storage;
}
