package io.penstock.examples.load;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// The administration of a gateway.
///
/// @param address as `host:port`
/// @param token that operators show
/// @param nanos a monotonic clock
record GatewayAdmin(HttpClient client, String address, String token, LongSupplier nanos) {
  private static final JsonMapper JSON = JsonMapper.shared();
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final Duration LOOK = Duration.ofMillis(20);
  private static final int FIRST_ERROR = 300;

  /// Gives an instance no new request.
  void drain(String name) throws IOException, InterruptedException {
    send("POST", "/instances/" + name + "/drain", "");
  }

  /// Removes an instance. Returns when the requests that run there have ended.
  void remove(String name) throws IOException, InterruptedException {
    JsonNode answer = JSON.readTree(send("DELETE", "/instances/" + name + "?wait=" + PATIENCE.toSeconds(), ""));
    if (!answer.path("state").asString().equals("removed")) {
      throw new IOException("requests must end at " + name + " (was " + answer + ")");
    }
  }

  /// Adds an engine. Returns when it takes requests.
  ///
  /// @param role `prefill` or `decode`
  /// @param engine as `host:port`, which becomes its name
  void add(String role, String engine) throws IOException, InterruptedException {
    send("POST", "/instances", JSON.createObjectNode().put("role", role).put("url", "http://" + engine).toString());
    awaitUp(engine);
  }

  /// Returns when the instance takes requests.
  void awaitUp(String name) throws IOException, InterruptedException {
    await(name, "take requests", instance -> instance.path("state").asString().equals("up"));
  }

  /// Returns when requests run at the instance.
  void awaitRequests(String name, int atLeast) throws IOException, InterruptedException {
    await(name, "have " + atLeast + " requests", instance -> instance.path("requests").asInt() >= atLeast);
  }

  private void await(String name, String what, Predicate<JsonNode> reached) throws IOException, InterruptedException {
    long end = nanos.getAsLong() + PATIENCE.toNanos();
    JsonNode now = instance(name);
    while (now == null || !reached.test(now)) {
      if (nanos.getAsLong() - end > 0) {
        throw new IOException("instance " + name + " must " + what + " (was " + now + ")");
      }
      LockSupport.parkNanos(LOOK.toNanos());
      if (Thread.interrupted()) {
        throw new InterruptedException();
      }
      now = instance(name);
    }
  }

  private @Nullable JsonNode instance(String name) throws IOException, InterruptedException {
    for (JsonNode instance : JSON.readTree(send("GET", "/instances", "")).path("instances")) {
      if (instance.path("name").asString().equals(name)) {
        return instance;
      }
    }
    return null;
  }

  /// Value of a counter without labels.
  ///
  /// @param name as Prometheus has it
  long counter(String name) throws IOException, InterruptedException {
    return (long) Metrics.value(send("GET", "/metrics", ""), name);
  }

  private String send(String method, String path, String body) throws IOException, InterruptedException {
    HttpResponse<String> response = client.send(HttpRequest.newBuilder(URI.create("http://" + address + path))
        .timeout(PATIENCE.plusSeconds(5)).header("Authorization", "Bearer " + token)
        .header("Content-Type", "application/json").method(method, BodyPublishers.ofString(body)).build(),
        BodyHandlers.ofString());
    if (response.statusCode() >= FIRST_ERROR) {
      throw new IOException(
          method + " " + path + " must succeed (was " + response.statusCode() + ": " + response.body() + ")");
    }
    return response.body();
  }
}
