package io.penstock.gateway.prompt;

import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.penstock.operator.Quiet;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.URI;
import java.util.Arrays;
import java.util.function.Supplier;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.netty.ByteBufFlux;
import reactor.netty.http.client.HttpClient;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/// The endpoint `/tokenize` of an engine.
public final class HttpTokenizer implements Tokenizer {
  private static final int OK = 200;
  private static final int MAX_ANSWER = 32 << 20;
  private static final int LEAST = 256;
  private static final JsonMapper MAPPER = JsonMapper.builder().build();

  private final HttpClient http;
  private final Supplier<URI> engine;

  /// @param http the client, with its pool, its time limits and TLS
  /// @param engine URL of an engine of the model, without a path; it is asked for each prompt
  public HttpTokenizer(HttpClient http, Supplier<URI> engine) {
    this.http = http;
    this.engine = engine;
  }

  @Override
  public Mono<int[]> tokens(ObjectNode request) {
    return Mono.defer(() -> {
      byte[] body = MAPPER.writeValueAsBytes(request);
      return Quiet.afterCancel(http.headers(headers -> {
        headers.set(HttpHeaderNames.CONTENT_TYPE, "application/json");
        headers.set(HttpHeaderNames.CONTENT_LENGTH, body.length);
      }).post().uri(engine.get().resolve("/tokenize")).send(Mono.fromSupplier(() -> Unpooled.wrappedBuffer(body)))
          .<int[]>response((response, answer) -> response.status().code() == OK
              ? bounded(answer).handle((bytes, sink) -> {
                try {
                  sink.next(parsed(bytes));
                } catch (IOException e) {
                  sink.error(e);
                }
              })
              : answer.then(Mono.<int[]>error(new IOException("it answered " + response.status().code()))).flux())
          .single().flux()).next();
    });
  }

  private static Flux<byte[]> bounded(ByteBufFlux answer) {
    return answer.reduceWith(ByteArrayOutputStream::new, (all, bytes) -> {
      if (all.size() + bytes.readableBytes() > MAX_ANSWER) {
        throw new IllegalStateException("answer must have at most " + MAX_ANSWER + " bytes");
      }
      byte[] part = new byte[bytes.readableBytes()];
      bytes.readBytes(part);
      all.writeBytes(part);
      return all;
    }).map(ByteArrayOutputStream::toByteArray).flux();
  }

  /// Reads the array `tokens` without a tree: a long prompt has more than 100,000.
  static int[] parsed(byte[] answer) throws IOException {
    try (JsonParser parser = MAPPER.createParser(answer)) {
      if (parser.nextToken() != JsonToken.START_OBJECT) {
        throw new IOException("answer must be a JSON object (was not)");
      }
      while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
        boolean isWanted = parser.currentName().equals("tokens");
        JsonToken value = parser.nextToken();
        if (isWanted && value == JsonToken.START_ARRAY) {
          return ints(parser);
        }
        parser.skipChildren();
      }
      throw new IOException("answer must have tokens (has none)");
    } catch (JacksonException e) {
      throw new IOException("answer must be JSON with token ids (was not: " + e.getOriginalMessage() + ")", e);
    }
  }

  private static int[] ints(JsonParser parser) {
    int[] tokens = new int[LEAST];
    int count = 0;
    while (parser.nextToken() != JsonToken.END_ARRAY) {
      if (count == tokens.length) {
        tokens = Arrays.copyOf(tokens, count * 2);
      }
      tokens[count++] = parser.getIntValue();
    }
    return Arrays.copyOf(tokens, count);
  }
}
