package io.penstock.gateway.engines;

import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Supplier;
import reactor.core.publisher.Mono;
import reactor.netty.DisposableServer;
import reactor.netty.http.server.HttpServer;
import reactor.netty.http.server.HttpServerRequest;
import reactor.netty.http.server.HttpServerResponse;
import reactor.netty.resources.LoopResources;

/// A scripted engine behind a port of the loopback.
public final class EngineServer implements AutoCloseable {
  private final DisposableServer server;

  private EngineServer(DisposableServer server) {
    this.server = server;
  }

  /// @param engine the engine, asked at each request
  public static EngineServer start(Supplier<ScriptedEngine> engine, LoopResources loops) {
    return new EngineServer(HttpServer.create().host("127.0.0.1").port(0).runOn(loops)
        .handle((request, response) -> answer(engine.get(), request, response)).bindNow());
  }

  public String url() {
    return "http://127.0.0.1:" + server.port();
  }

  public int port() {
    return server.port();
  }

  @Override
  public void close() {
    server.disposeNow();
  }

  private static Mono<Void> answer(ScriptedEngine engine, HttpServerRequest request, HttpServerResponse response) {
    Map<String, String> headers = new HashMap<>();
    request.requestHeaders().forEach(header -> headers.put(header.getKey(), header.getValue()));
    return request.receive().aggregate().asString().defaultIfEmpty("{}")
        .flatMap(body -> engine.handle(new Call(request.method().name(), request.uri(), headers, Tree.read(body))))
        .flatMap(reply -> response.status(reply.status()).header("Content-Type", reply.type())
            .send(reply.parts().map(part -> Unpooled.copiedBuffer(part, StandardCharsets.UTF_8)), part -> true).then());
  }
}
