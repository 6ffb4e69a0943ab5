package io.penstock.examples.load;

import io.penstock.node.cli.UnavailableException;
import io.penstock.node.text.Reason;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/// One endpoint: a gateway, or an engine that does both.
final class HttpTarget implements ChatTarget {
  private static final JsonMapper JSON = JsonMapper.shared();
  private static final String DATA = "data: ";
  private static final Duration LIMIT = Duration.ofMinutes(2);

  private final HttpClient client;
  private final String address;
  private final LongSupplier nanos;

  /// @param address as `host:port`
  /// @param nanos a monotonic clock
  HttpTarget(HttpClient client, String address, LongSupplier nanos) {
    this.client = client;
    this.address = address;
    this.nanos = nanos;
  }

  String address() {
    return address;
  }

  /// Returns if something answers there.
  ///
  /// @throws UnavailableException if nothing does
  void requireReached() throws InterruptedException {
    try {
      client.send(HttpRequest.newBuilder(URI.create("http://" + address + "/v1/models")).timeout(LIMIT).build(),
          BodyHandlers.discarding());
    } catch (IOException e) {
      throw new UnavailableException(
          Reason.after("--target must be where an endpoint answers (was " + address + ")", e), e);
    }
  }

  @Override
  public ChatReply chat(ObjectNode body) throws InterruptedException {
    long began = nanos.getAsLong();
    try {
      HttpResponse<InputStream> response = client.send(post(body), BodyHandlers.ofInputStream());
      try (BufferedReader lines =
          new BufferedReader(new InputStreamReader(response.body(), StandardCharsets.UTF_8))) {
        if (response.statusCode() != 200) {
          return ChatReply.failed(response.statusCode(), String.valueOf(lines.readLine()));
        }
        return new Reading(began).read(lines);
      }
    } catch (IOException e) {
      return ChatReply.failed(0, Reason.of(e));
    }
  }

  /// The answer of a request that is no stream.
  JsonNode whole(ObjectNode body) throws IOException, InterruptedException {
    HttpResponse<String> response = client.send(post(body), BodyHandlers.ofString());
    if (response.statusCode() != 200) {
      throw new IOException("status must be 200 (was " + response.statusCode() + ": " + response.body() + ")");
    }
    return JSON.readTree(response.body());
  }

  private HttpRequest post(ObjectNode body) {
    return HttpRequest.newBuilder(URI.create("http://" + address + "/v1/chat/completions")).timeout(LIMIT)
        .header("Content-Type", "application/json").POST(BodyPublishers.ofString(body.toString())).build();
  }

  /// One stream.
  private final class Reading {
    private final long began;
    private final StringBuilder text = new StringBuilder();
    private long first;
    private long last;
    private @Nullable String finish;
    private @Nullable String error;
    private boolean done;
    private int promptTokens;
    private int cachedTokens;
    private int tokens;

    Reading(long began) {
      this.began = began;
    }

    ChatReply read(BufferedReader lines) {
      try {
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
          if (line.startsWith(DATA)) {
            event(line.substring(DATA.length()));
          }
        }
      } catch (IOException e) {
        error = Reason.of(e);
      }
      return new ChatReply(200, text.toString(), done ? finish : null, error, promptTokens, cachedTokens, tokens,
          first == 0 ? 0 : first - began, last - first);
    }

    private void event(String data) {
      if (data.equals("[DONE]")) {
        done = true;
        return;
      }
      JsonNode event = JSON.readTree(data);
      if (event.has("error")) {
        error = event.get("error").toString();
      }
      JsonNode choice = event.path("choices").path(0);
      String delta = choice.path("delta").path("content").asString("");
      if (!delta.isEmpty()) {
        piece(delta);
      }
      if (choice.hasNonNull("finish_reason")) {
        finish = choice.get("finish_reason").asString();
      }
      JsonNode usage = event.path("usage");
      if (usage.isObject()) {
        promptTokens = usage.path("prompt_tokens").asInt();
        tokens = usage.path("completion_tokens").asInt();
        cachedTokens = usage.path("prompt_tokens_details").path("cached_tokens").asInt(0);
      }
    }

    private void piece(String delta) {
      long now = nanos.getAsLong();
      if (first == 0) {
        first = now;
      }
      last = now;
      text.append(delta);
    }
  }
}
