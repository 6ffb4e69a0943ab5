/// The kernel: words, memory, ports, stages and flows.
@SuppressWarnings({"module", "requires-transitive-automatic"}) // manifests name them; modules built later
module io.penstock {
  requires transitive reactor.core;
  requires transitive org.reactivestreams;
  requires transitive micrometer.core;
  requires static transitive org.jspecify;

  // For users
  exports io.penstock;
  exports io.penstock.block;
  exports io.penstock.budget;
  exports io.penstock.tier;
  exports io.penstock.stack;
  exports io.penstock.stack.shape;
  exports io.penstock.stage;
  exports io.penstock.flow;
  exports io.penstock.block.session;
  exports io.penstock.meter;
  exports io.penstock.recording;
  exports io.penstock.recording.check;

  // For authors of stores and tiers
  exports io.penstock.tier.spi;

  // For authors of engines
  exports io.penstock.disagg;
  exports io.penstock.disagg.request;

  // Shared among the modules of this project
  exports io.penstock.check to io.penstock.device, io.penstock.storage, io.penstock.wire, io.penstock.node,
      io.penstock.cluster, io.penstock.gateway, io.penstock.lab, io.penstock.examples;
  exports io.penstock.operator to io.penstock.device, io.penstock.storage, io.penstock.wire, io.penstock.node,
      io.penstock.cluster, io.penstock.gateway, io.penstock.lab, io.penstock.examples;
  exports io.penstock.system to io.penstock.device, io.penstock.examples, io.penstock.node, io.penstock.storage,
      io.penstock.wire;
  exports io.penstock.pool to io.penstock.node, io.penstock.lab;
  exports io.penstock.pool.curve to io.penstock.node, io.penstock.lab;
  exports io.penstock.pool.evict to io.penstock.storage, io.penstock.lab;
  exports io.penstock.pool.share to io.penstock.node, io.penstock.lab;
  exports io.penstock.disagg.recording to io.penstock.node;
  exports io.penstock.disagg.registry to io.penstock.wire, io.penstock.node, io.penstock.gateway,
      io.penstock.lab, io.penstock.examples;
  exports io.penstock.disagg.plan to io.penstock.wire, io.penstock.node, io.penstock.gateway,
      io.penstock.lab, io.penstock.examples;
  exports io.penstock.tier.slice to io.penstock.wire;
  exports io.penstock.carrier to io.penstock.wire;
}
