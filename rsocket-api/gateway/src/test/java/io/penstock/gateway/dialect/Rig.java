package io.penstock.gateway.dialect;

import io.penstock.gateway.engines.KvNetwork;
import io.penstock.gateway.engines.LayerwiseDecode;
import io.penstock.gateway.engines.LayerwisePrefill;
import io.penstock.gateway.engines.MooncakeDecode;
import io.penstock.gateway.engines.MooncakePrefill;
import io.penstock.gateway.engines.NixlPullDecode;
import io.penstock.gateway.engines.NixlPullPrefill;
import io.penstock.gateway.engines.NixlPushDecode;
import io.penstock.gateway.engines.NixlPushPrefill;
import io.penstock.gateway.engines.ScriptedEngine;
import io.penstock.gateway.engines.SglangEngine;
import io.penstock.gateway.engines.SingleEngine;
import java.net.URI;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.BiFunction;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import tools.jackson.databind.node.ObjectNode;

/// The two engines of a dialect, and the dialect. Addresses are names without sockets unless a test gives others.
final class Rig {
  static final URI METASERVER = URI.create("http://gateway:8000/v1/metaserver");
  static final String PREFILL = "http://prefill:8100";
  static final String DECODE = "http://decode:8200";
  static final String SPARE = "http://spare:8200";

  final DialectName name;
  final KvNetwork network = new KvNetwork();
  final Metaserver metaserver = new Metaserver();
  final ScriptedEngine prefill;
  final ScriptedEngine decode;

  /// @param bootstrap the address of the prefill's bootstrap server
  /// @param poster how decode engines reach the metaserver
  Rig(DialectName name, URI bootstrap, BiFunction<URI, ObjectNode, Mono<Integer>> poster) {
    this.name = name;
    switch (name) {
      case SINGLE -> {
        decode = new SingleEngine();
        prefill = decode;
      }
      case NIXL_PULL -> {
        prefill = new NixlPullPrefill(network, "p0");
        decode = new NixlPullDecode(network, List.of("p0"));
      }
      case MOONCAKE -> {
        MooncakePrefill engine = new MooncakePrefill(network, List.of("m0", "m1")).register();
        prefill = engine;
        decode = new MooncakeDecode(network, engine, bootstrap::toString);
      }
      case NIXL_PUSH -> {
        prefill = new NixlPushPrefill(network, "p0");
        decode = new NixlPushDecode(network, List.of("p0"));
      }
      case LAYERWISE -> {
        prefill = new LayerwisePrefill(network);
        decode = new LayerwiseDecode(network, poster);
      }
      case SGLANG -> {
        prefill = new SglangEngine(network, true, bootstrap.getHost(), bootstrap.getPort());
        decode = new SglangEngine(network, false, bootstrap.getHost(), bootstrap.getPort());
      }
      default -> throw new IllegalStateException("Dialect " + name + " has no engines.");
    }
  }

  /// Engines without sockets.
  static Rig direct(DialectName name, DirectClient client) {
    Rig[] rig = new Rig[1];
    rig[0] = new Rig(name, URI.create("http://prefill:8998"), (uri, report) -> rig[0].metaserver.report(report)
        .map(Metaserver.Reply::status));
    client.engine(PREFILL, rig[0].prefill);
    client.engine(DECODE, rig[0].decode);
    client.engine(SPARE, rig[0].decode);
    client.engine("http://prefill:8998", rig[0].prefill);
    return rig[0];
  }

  Dialects dialects(EngineClient client, URI metaserverUrl, Random random, Scheduler timer) {
    return new Dialects(name, client, metaserver, metaserverUrl, random, timer);
  }

  EnginePair pair() {
    return pair(List.of());
  }

  EnginePair pair(List<EngineAddress> spares) {
    EngineAddress second = EngineAddress.parse(DECODE);
    return name == DialectName.SINGLE
        ? EnginePair.single(second)
        : new EnginePair(EngineAddress.parse(PREFILL), second, spares);
  }

  static EngineRequest request(String path, String body) {
    return new EngineRequest(path, (ObjectNode) Json.tree(body), "r1", Map.of("traceparent", "00-1-2-01"));
  }
}
