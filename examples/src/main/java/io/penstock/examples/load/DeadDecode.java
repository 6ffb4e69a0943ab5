package io.penstock.examples.load;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/// How long a prefill holds blocks for a decode that was killed: requests wait at a decode whose slots are all taken,
/// and the prefill holds their blocks for as long as they wait. Then the decode is killed.
final class DeadDecode {
  private static final String USAGE = "vllm:kv_cache_usage_perc";
  private static final String WAITING = "vllm:num_requests_waiting";
  private static final int REQUESTS = 8;
  private static final int PROMPT_CHARS = 400;
  /// An engine holds blocks for so long without a decode.
  private static final Duration CLAIM = Duration.ofSeconds(1);
  private static final Duration PATIENCE = Duration.ofSeconds(30);
  private static final JsonMapper JSON = JsonMapper.shared();

  private final HttpClient client;
  private final EngineProcess prefill;
  private final EngineProcess decode;
  private final int slots;
  private final LongSupplier nanos;

  /// @param requests that waited at the decode
  /// @param heldMillis for how long the prefill held their blocks before the decode was killed, at least
  /// @param freeMillis from the kill until the prefill held no block
  record Report(int requests, long heldMillis, double freeMillis) {}

  /// @param slots of the decode
  /// @param nanos a monotonic clock
  DeadDecode(HttpClient client, EngineProcess prefill, EngineProcess decode, int slots, LongSupplier nanos) {
    this.client = client;
    this.prefill = prefill;
    this.decode = decode;
    this.slots = slots;
    this.nanos = nanos;
  }

  /// Kills the decode. Nothing else may run at the two engines.
  Report measure() throws IOException, InterruptedException {
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<?>> all = new ArrayList<>();
      for (int i = 0; i < slots; i++) {
        ObjectNode endless = chat("busy " + i, Integer.MAX_VALUE);
        all.add(threads.submit(() -> ended(endless)));
      }
      for (int i = 0; i < REQUESTS; i++) {
        String prompt = ("request " + i + " ").repeat(PROMPT_CHARS / 10);
        ObjectNode waiting = chat(prompt, 4);
        waiting.set("kv_transfer_params", handedOver(prompt));
        all.add(threads.submit(() -> ended(waiting)));
      }
      until("requests wait at the decode", () -> figure(decode, WAITING) >= REQUESTS);
      long waits = nanos.getAsLong();
      until("time passes", () -> nanos.getAsLong() - waits > 2 * CLAIM.toNanos());
      if (figure(prefill, USAGE) <= 0) {
        throw new IOException("prefill must hold the blocks of requests that wait at a decode (was none)");
      }
      long held = nanos.getAsLong() - waits;
      long killed = nanos.getAsLong();
      decode.kill();
      until("prefill holds no block", () -> figure(prefill, USAGE) <= 0);
      long free = nanos.getAsLong() - killed;
      for (Future<?> each : all) {
        each.cancel(true);
      }
      return new Report(REQUESTS, TimeUnit.NANOSECONDS.toMillis(held), free / 1e6);
    }
  }

  private static ObjectNode chat(String prompt, int tokens) {
    ObjectNode body = JSON.createObjectNode().put("stream", true).put("ignore_eos", true);
    if (tokens < Integer.MAX_VALUE) {
      body.put("max_tokens", tokens);
    }
    body.putArray("messages").addObject().put("role", "user").put("content", prompt);
    return body;
  }

  private @Nullable JsonNode handedOver(String prompt) throws IOException, InterruptedException {
    ObjectNode body = chat(prompt, 1).put("stream", false);
    body.putObject("kv_transfer_params").put("do_remote_decode", true).put("do_remote_prefill", false);
    return new HttpTarget(client, prefill.address(), nanos).whole(body).get("kv_transfer_params");
  }

  private ChatReply ended(ObjectNode body) throws InterruptedException {
    return new HttpTarget(client, decode.address(), nanos).chat(body);
  }

  private double figure(EngineProcess engine, String name) throws IOException, InterruptedException {
    return Metrics.value(client.send(HttpRequest.newBuilder(URI.create("http://" + engine.address() + "/metrics"))
        .timeout(PATIENCE).build(), BodyHandlers.ofString()).body(), name);
  }

  private interface Condition {
    boolean holds() throws IOException, InterruptedException;
  }

  private void until(String what, Condition condition) throws IOException, InterruptedException {
    long end = nanos.getAsLong() + PATIENCE.toNanos();
    while (!condition.holds()) {
      if (nanos.getAsLong() - end > 0) {
        throw new IOException("a moment must come within " + PATIENCE.toSeconds() + " s when " + what
            + " (did not)");
      }
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(2));
    }
  }
}
