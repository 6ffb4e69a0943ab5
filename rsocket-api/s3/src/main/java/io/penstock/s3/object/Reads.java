package io.penstock.s3.object;

import io.penstock.block.BlockCorruptException;
import io.penstock.block.BlockScope;
import io.penstock.block.IncompleteBlockException;
import io.penstock.flow.LeasedValue;
import io.penstock.flow.ValueStore;
import io.penstock.node.door.DoorUses;
import io.penstock.s3.reply.S3Code;
import io.penstock.s3.reply.S3Exception;
import io.penstock.s3.request.ByteRange;
import java.util.Optional;
import reactor.core.publisher.Mono;

/// GET and HEAD of objects.
final class Reads {
  private static final int OK = 200;
  private static final int PART = 206;
  private static final int UNCHANGED = 304;
  private static final String RANGE = "Range";
  private static final String PART_NUMBER = "partNumber";

  /// Value of `Last-Modified`: values have no times, so it is when the door was opened.
  private final String modified;

  Reads(String modified) {
    this.modified = modified;
  }

  static S3Exception none() {
    return new S3Exception(S3Code.NO_SUCH_KEY, "key must be that of an object (is of none)");
  }

  Mono<Reply> head(Ask ask) {
    ask.use().count(DoorUses.Kind.FIND);
    return ask.values().info(ask.name()).map(info -> {
      Optional<Reply> without = unwanted(ask, info);
      if (without.isPresent()) {
        return without.get();
      }
      Optional<ByteRange> range = range(ask, info);
      return head(info, range).with("Content-Length", "" + range.map(ByteRange::bytes).orElse(info.length()));
    }).switchIfEmpty(Mono.error(Reads::none));
  }

  private Reply head(ValueStore.Info info, Optional<ByteRange> range) {
    Reply reply = Reply.empty(range.isPresent() ? PART : OK).with("ETag", ObjectTag.of(info.version()))
        .with("Last-Modified", modified).with("Accept-Ranges", "bytes")
        .with("Content-Type", "binary/octet-stream");
    return range.map(one -> reply.with("Content-Range", one.header(info.length()))).orElse(reply);
  }

  /// The response without bytes, where conditions of the request ask for it.
  private static Optional<Reply> unwanted(Ask ask, ValueStore.Info info) {
    String match = ask.headers().get("If-Match");
    if (match != null && !ObjectTag.matches(match, info.version())) {
      throw new S3Exception(S3Code.PRECONDITION_FAILED, "object must have the tag of If-Match (has another)");
    }
    String other = ask.headers().get("If-None-Match");
    return other != null && ObjectTag.matches(other, info.version())
        ? Optional.of(Reply.empty(UNCHANGED).with("ETag", ObjectTag.of(info.version())))
        : Optional.empty();
  }

  private static Optional<ByteRange> range(Ask ask, ValueStore.Info info) {
    String number = ask.target().query().get(PART_NUMBER);
    if (number != null && !number.equals("1")) {
      throw new S3Exception(S3Code.INVALID_PART_NUMBER, "partNumber must be 1: an object is one part (was another)");
    }
    return ByteRange.of(ask.headers().get(RANGE), info.length());
  }

  Mono<Reply> get(Ask ask) {
    return Mono.defer(() -> {
      BlockScope scope = new BlockScope();
      return found(ask, scope).doOnError(failure -> scope.close()).doOnCancel(scope::close)
          .doOnNext(reply -> closeIfBare(reply, scope));
    }).switchIfEmpty(Mono.error(Reads::none)).onErrorMap(failure -> missed(ask, failure));
  }

  private static void closeIfBare(Reply reply, BlockScope scope) {
    if (reply.content() == null) {
      scope.close();
    }
  }

  private Mono<Reply> found(Ask ask, BlockScope scope) {
    boolean isPart = ask.headers().contains(RANGE) || ask.has(PART_NUMBER);
    return isPart
        ? ask.values().info(ask.name()).flatMap(info -> part(ask, info, scope))
        : ask.values().get(ask.name(), scope).map(value -> unwanted(ask, value.info())
            .orElseGet(() -> reply(ask, value, Optional.empty(), scope)));
  }

  private Mono<Reply> part(Ask ask, ValueStore.Info info, BlockScope scope) {
    Optional<Reply> without = unwanted(ask, info);
    if (without.isPresent()) {
      return Mono.just(without.get());
    }
    Optional<ByteRange> range = range(ask, info);
    Mono<LeasedValue> value = range
        .map(one -> ask.values().get(ask.name(), one.offset(), one.bytes(), scope))
        .orElseGet(() -> ask.values().get(ask.name(), scope));
    return value.flatMap(found -> found.info().equals(info)
        ? Mono.just(reply(ask, found, range, scope))
        : Mono.error(() -> new S3Exception(S3Code.SLOW_DOWN, "object must not be replaced meanwhile (was)")));
  }

  private Reply reply(Ask ask, LeasedValue value, Optional<ByteRange> range, BlockScope scope) {
    ask.use().count(DoorUses.Kind.HIT);
    Reply head = head(value.info(), range);
    long bytes = range.map(ByteRange::bytes).orElse(value.length());
    ask.use().add(DoorUses.Kind.BYTES_OUT, bytes);
    return new Reply(head.status(), head.headers(), new byte[0], new Reply.Content(bytes, value.parts(), scope));
  }

  /// A value that cannot be read is none.
  static Throwable missed(Ask ask, Throwable failure) {
    if (failure instanceof BlockCorruptException) {
      ask.use().count(DoorUses.Kind.DAMAGE);
    }
    boolean isGone = failure instanceof BlockCorruptException || failure instanceof IncompleteBlockException
        || failure instanceof IllegalArgumentException;
    Throwable told = isGone ? none() : failure;
    if (told instanceof S3Exception refusal && refusal.code() == S3Code.NO_SUCH_KEY) {
      ask.use().count(DoorUses.Kind.MISS);
    }
    return told;
  }
}
