package io.penstock.s3.object;

import io.netty.handler.codec.http.HttpHeaderNames;
import io.penstock.KvException;
import io.penstock.TransientKvException;
import io.penstock.block.BlockHash;
import io.penstock.block.BlockScope;
import io.penstock.flow.LeasedValue;
import io.penstock.flow.ValuePart;
import io.penstock.flow.ValueStore;
import io.penstock.node.door.DoorUses;
import io.penstock.node.door.DoorValues;
import io.penstock.s3.object.Uploads.Part;
import io.penstock.s3.object.Uploads.Upload;
import io.penstock.s3.reply.Documents;
import io.penstock.s3.reply.S3Code;
import io.penstock.s3.reply.S3Exception;
import io.penstock.s3.request.Bodies;
import java.lang.foreign.MemorySegment;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/// Uploads in parts. Parts come in any order, side by side, each stored as a value of its own. The end of the upload
/// copies them into one value, which is visible whole or not at all, and removes each as soon as it is copied: beside
/// the value there is room for one part.
final class Multipart {
  private static final Logger LOG = LoggerFactory.getLogger(Multipart.class);
  private static final int MOST_PARTS = Bodies.MOST_PARTS;
  private static final int PAGE = 1000;

  private final Uploads uploads;
  private final Writes writes;
  private final long mostBytes;
  private final String scheme;
  private final String modified;
  private final SecureRandom random = new SecureRandom();

  /// @param mostBytes of an object
  /// @param scheme of the addresses of objects
  Multipart(Uploads uploads, Writes writes, long mostBytes, String scheme, String modified) {
    this.uploads = uploads;
    this.writes = writes;
    this.mostBytes = mostBytes;
    this.scheme = scheme;
    this.modified = modified;
  }

  Mono<Reply> begin(Ask ask) {
    return Mono.fromSupplier(() -> {
      Upload upload = uploads.begin(ask.name(), ask.values());
      return Reply.of(new Documents.NewUpload(ask.target().bucket(), Documents.carried(ask.target().key()), upload.id));
    });
  }

  private Upload upload(Ask ask) {
    return uploads.get(ask.target().query().get("uploadId", ""), ask.name());
  }

  Mono<Reply> part(Ask ask, Incoming incoming) {
    return Mono.defer(() -> {
      Upload upload = upload(ask);
      int number = number(ask);
      String value = upload.nameOf(number);
      return writes.store(ask.values(), value, ask.use(), incoming, Writes.Terms.NONE).flatMap(outcome -> {
        Part part = new Part(value, incoming.length(), outcome.version(), outcome.isStored());
        Part before = uploads.has(upload) ? upload.add(number, part) : part;
        return (before == null ? Mono.just(false) : ask.values().remove(before.value())).thenReturn(
            Reply.empty(200).with("ETag", outcome.tag()).with(incoming.compared()));
      });
    });
  }

  private static int number(Ask ask) {
    String number = ask.target().query().get("partNumber", "");
    if (!number.matches("[1-9]\\d{0,4}") || Integer.parseInt(number) > MOST_PARTS) {
      throw new S3Exception(S3Code.INVALID_ARGUMENT,
          "partNumber must be from 1 to " + MOST_PARTS + " (was " + number + ")");
    }
    return Integer.parseInt(number);
  }

  Mono<Reply> abort(Ask ask) {
    return Mono.defer(() -> {
      Upload upload = upload(ask);
      return (uploads.end(upload) ? removed(upload) : Mono.<Void>empty()).thenReturn(Reply.empty(204));
    });
  }

  /// Removes the parts of an upload that has ended. Never fails.
  static Mono<Void> removed(Upload upload) {
    return Flux.fromIterable(upload.parts().values()).concatMap(part -> gone(upload.values, part)).then();
  }

  Mono<Reply> list(Ask ask) {
    return Mono.fromSupplier(() -> {
      Upload upload = upload(ask);
      int after = Listing.number(ask, "part-number-marker", 0, MOST_PARTS);
      int most = Listing.number(ask, "max-parts", PAGE, PAGE);
      List<Documents.PartEntry> page = new ArrayList<>();
      boolean hasMore = false;
      for (Map.Entry<Integer, Part> each : upload.parts().entrySet()) {
        if (each.getKey() > after && most > 0) {
          hasMore = page.size() == most;
          if (hasMore) {
            break;
          }
          Part part = each.getValue();
          page.add(new Documents.PartEntry(each.getKey(), modified, ObjectTag.of(part.version()), part.length()));
        }
      }
      return Reply.of(new Documents.PartList(ask.target().bucket(), Documents.carried(ask.target().key()), upload.id,
          after, hasMore ? page.getLast().partNumber() : null, most, hasMore, "STANDARD", page));
    });
  }

  Mono<Reply> uploads(Ask ask) {
    return Mono.fromSupplier(() -> Reply.of(UploadPage.of(ask, uploads.all())));
  }

  Mono<Reply> complete(Ask ask, byte[] body) {
    return Mono.defer(() -> {
      Upload upload = upload(ask);
      List<Part> parts = chosen(upload, Bodies.parts(body));
      long length = parts.stream().mapToLong(Part::length).sum();
      if (length > mostBytes) {
        throw new S3Exception(S3Code.ENTITY_TOO_LARGE,
            "object must be <= " + mostBytes + " bytes (was " + length + ")");
      }
      if (!uploads.end(upload)) {
        throw new S3Exception(S3Code.NO_SUCH_UPLOAD, "uploadId must be that of an upload of the object (is not)");
      }
      return Mono.usingWhen(Mono.just(upload),
          ended -> joined(ask, parts, length).map(tag -> Reply.of(new Documents.Completed(
              location(ask), ask.target().bucket(), Documents.carried(ask.target().key()), tag))),
          Multipart::removed);
    });
  }

  /// The address of the object, with the host and the path that the client used: the bucket is in one of them.
  private String location(Ask ask) {
    String host = ask.headers().get(HttpHeaderNames.HOST, "");
    return host.isEmpty() ? ask.target().path() : scheme + "://" + Documents.carried(host) + ask.target().path();
  }

  private static List<Part> chosen(Upload upload, List<Bodies.Part> wanted) {
    List<Part> parts = new ArrayList<>();
    for (Bodies.Part each : wanted) {
      Part part = upload.part(each.partNumber());
      if (part == null || !ObjectTag.isOf(each.eTag(), part.version())) {
        throw new S3Exception(S3Code.INVALID_PART,
            "part " + each.partNumber() + " must be one that came, with its tag (is not)");
      }
      parts.add(part);
    }
    return parts;
  }

  /// @return the tag of the object
  private Mono<String> joined(Ask ask, List<Part> parts, long length) {
    Mono<Boolean> stored = parts.stream().allMatch(Part::isStored)
        ? Mono.using(BlockScope::new,
            scope -> ask.values().put(ask.name(), length, bytes(ask.values(), parts, scope)), BlockScope::close)
            .thenReturn(true).onErrorResume(KvException.class, failure -> Writes.dropped(ask.name(), failure))
        : Mono.just(false);
    return stored.flatMap(is -> is
        ? ask.values().info(ask.name())
        : ask.values().remove(ask.name()).then(Mono.<ValueStore.Info>empty()))
        .map(info -> ObjectTag.of(info.version())).switchIfEmpty(Mono.fromSupplier(() -> {
          ask.use().count(DoorUses.Kind.DROP);
          return ObjectTag.of(new BlockHash(random.nextLong(), random.nextLong()));
        }));
  }

  /// The bytes of all parts, one after the other; each stays until the next is requested, the last until `scope`
  /// closes.
  private static Flux<MemorySegment> bytes(DoorValues values, List<Part> parts, BlockScope scope) {
    return Flux.defer(() -> {
      AtomicReference<@Nullable ValuePart> last = new AtomicReference<>();
      return Flux.fromIterable(parts)
          .concatMapIterable(
              part -> List.of(taken(values, part, scope), gone(values, part).then(Mono.<ValuePart>empty()).flux()))
          .concatMap(step -> step, 1)
          .map(bytes -> {
            close(last.getAndSet(bytes));
            return MemorySegment.ofBuffer(bytes.buffer());
          });
    });
  }

  private static Flux<ValuePart> taken(DoorValues values, Part part, BlockScope scope) {
    return values.get(part.value(), scope).switchIfEmpty(Mono.error(() -> new LostPartException(part)))
        .flatMapMany(LeasedValue::parts);
  }

  /// A part that cannot be removed now costs its room until it is evicted, and not the object.
  private static Mono<Void> gone(DoorValues values, Part part) {
    return values.remove(part.value())
        .doOnError(failure -> LOG.debug("a part of an upload that has ended stays for now", failure))
        .onErrorComplete().then();
  }

  private static void close(@Nullable ValuePart part) {
    if (part != null) {
      part.close();
    }
  }

  /// A part of an upload was evicted before the upload ended.
  private static final class LostPartException extends TransientKvException {
    LostPartException(Part part) {
      super("part of an upload must be there when the upload ends (was evicted, " + part.length() + " bytes)");
    }
  }
}
