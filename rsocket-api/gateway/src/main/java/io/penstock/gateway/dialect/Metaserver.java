package io.penstock.gateway.dialect;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// Where decode engines of the layer-wise dialect report that their blocks are reserved (`POST /v1/metaserver`). Each
/// report names a child of a request: `chatcmpl-{id}`, or `cmpl-{id}-{n}` for prompt n of a list. When all children of
/// a request have reported, its prefill is sent, once; each report is answered when that prefill ended.
///
/// A report does not own the prefill: an engine that hangs up, or that reports a second time, changes nothing. The
/// request owns it. Ids are forgotten with their request, and hold 128 random bits, so a stranger cannot report.
public final class Metaserver {
  /// The path of the endpoint.
  public static final String PATH = "/v1/metaserver";

  private static final int OK = 200;
  private static final int BAD_REQUEST = 400;
  private static final int NOT_FOUND = 404;
  private static final int BAD_GATEWAY = 502;

  private final Map<String, Expected> expected = new ConcurrentHashMap<>();

  /// What a report is answered.
  ///
  /// @param status 200, 400 without a request id, 404 for an unknown child, 502 when the prefill failed
  /// @param body the JSON
  public record Reply(int status, ObjectNode body) {}

  /// Takes a report. The answer comes when the prefill ended; a cancel of it changes nothing.
  public Mono<Reply> report(JsonNode message) {
    return Mono.defer(() -> {
      String child = message.path("request_id").asString("");
      if (!(message instanceof ObjectNode transfer) || child.isEmpty()) {
        return Mono.just(refusal(BAD_REQUEST, "request_id must be the id of a child"));
      }
      Expected parent = expected.get(child);
      return parent == null
          ? Mono.just(refusal(NOT_FOUND, "Unknown metaserver request_id: '" + child + "'"))
          : parent.report(child, transfer);
    });
  }

  /// The number of children that may report.
  public int children() {
    return expected.size();
  }

  /// Expects reports of all children. Must be closed with the request.
  Expected expect(List<String> children) {
    Expected parent = new Expected(children);
    children.forEach(child -> expected.put(child, parent));
    return parent;
  }

  private static Reply refusal(int status, String detail) {
    return new Reply(status, Json.object().put("detail", detail));
  }

  /// The children of one request.
  final class Expected implements AutoCloseable {
    private final List<String> children;
    private final Map<String, ObjectNode> reports = new LinkedHashMap<>();
    private final Sinks.One<ObjectNode> all = Sinks.one();
    private final Sinks.One<Reply> outcome = Sinks.one();

    private Expected(List<String> children) {
      this.children = List.copyOf(children);
    }

    /// The transfer parameters for the prefill, when all children have reported: those of the first child, and for a
    /// list those of all under `batch_kv_transfer_params`.
    Mono<ObjectNode> transfer() {
      return all.asMono();
    }

    /// Answers the reports.
    void ended(@Nullable Throwable failure) {
      outcome.tryEmitValue(failure == null
          ? new Reply(OK, Json.object().put("status", "ok"))
          : refusal(BAD_GATEWAY, String.valueOf(failure.getMessage())));
    }

    /// Forgets the children. Reports that still wait are answered 502.
    @Override
    public void close() {
      children.forEach(expected::remove);
      outcome.tryEmitValue(refusal(BAD_GATEWAY, "the request ended before its prefill"));
    }

    private Mono<Reply> report(String child, ObjectNode transfer) {
      ObjectNode complete = add(child, transfer);
      if (complete != null) {
        all.tryEmitValue(complete);
      }
      return outcome.asMono();
    }

    private synchronized @Nullable ObjectNode add(String child, ObjectNode transfer) {
      reports.put(child, transfer);
      return reports.size() == children.size() ? combined() : null;
    }

    private ObjectNode combined() {
      ObjectNode transfer = Json.object();
      transfer.setAll(reports.getOrDefault(children.getFirst(), Json.object()));
      if (children.size() > 1) {
        ObjectNode batch = transfer.putObject("batch_kv_transfer_params");
        children.forEach(child -> batch.set(child, reports.get(child)));
      }
      return transfer;
    }
  }
}
