package io.penstock.s3.object;

import static java.util.Objects.requireNonNull;

import io.penstock.block.BlockScope;
import io.penstock.flow.ValuePart;
import io.penstock.s3.reply.Documents;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;

/// A response.
///
/// @param document in XML, as its body; empty for none
/// @param content an object, as its body; null for none
public record Reply(int status, Map<String, String> headers, byte[] document, @Nullable Content content) {
  public Reply {
    requireNonNull(headers, "headers");
    requireNonNull(document, "document");
  }

  /// Bytes of an object.
  ///
  /// @param bytes how many there are
  /// @param parts with these bytes; for one subscriber
  /// @param scope owns what is read; closed by the one who sends the reply, or drops it
  public record Content(long bytes, Flux<ValuePart> parts, BlockScope scope) {}

  /// A response without a body.
  static Reply empty(int status) {
    return new Reply(status, Map.of(), new byte[0], null);
  }

  /// A response with a document.
  static Reply of(Object document) {
    return new Reply(200, Map.of(), Documents.bytes(document), null);
  }

  /// This response with one more header.
  Reply with(String name, String value) {
    Map<String, String> all = new LinkedHashMap<>(headers);
    all.put(name, value);
    return new Reply(status, all, document, content);
  }

  Reply with(Map<String, String> more) {
    Map<String, String> all = new LinkedHashMap<>(headers);
    all.putAll(more);
    return new Reply(status, all, document, content);
  }
}
