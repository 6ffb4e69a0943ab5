package io.penstock.s3.object;

import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import io.penstock.node.door.DoorUses;
import io.penstock.node.door.DoorValues;
import io.penstock.s3.reply.Documents;
import io.penstock.s3.reply.S3Code;
import io.penstock.s3.reply.S3Exception;
import io.penstock.s3.request.Bodies;
import io.penstock.s3.request.Target;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.BooleanSupplier;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/// Finds out what a request wants. Safe from any thread.
public final class Operations {
  /// Parameters of operations that this door has not, on buckets and objects. Without them, such a request would seem
  /// to be another one.
  private static final Set<String> OTHERS = Set.of("accelerate", "acl", "analytics", "attributes", "cors", "encryption",
      "intelligent-tiering", "inventory", "legal-hold", "lifecycle", "logging", "metrics", "notification",
      "object-lock", "ownershipControls", "policy", "policyStatus", "publicAccessBlock", "replication",
      "requestPayment", "restore", "retention", "select", "tagging", "torrent", "versionId", "versioning", "versions",
      "website");
  private static final Set<String> OTHER_HEADERS = Set.of("x-amz-copy-source", "x-amz-server-side-encryption",
      "x-amz-server-side-encryption-customer-algorithm", "x-amz-tagging", "x-amz-write-offset-bytes");

  private final Reads reads;
  private final Writes writes;
  private final Multipart multipart;
  private final Listing listing;
  private final Uploads uploads;
  private final Scheduler work;
  private final String opened;

  /// @param mostBytes of an object
  /// @param uploadLife after which an upload in parts that did not end is given up
  /// @param mostUploads in parts at a time
  public record Limits(long mostBytes, Duration uploadLife, int mostUploads) {}

  /// @param scheme of the addresses of objects
  /// @param work runs what would keep an event loop from others
  /// @param isDraining whether nothing new is stored
  public Operations(Limits limits, String scheme, InstantSource clock, Scheduler work,
      BooleanSupplier isDraining) {
    Instant now = clock.instant().truncatedTo(ChronoUnit.SECONDS);
    String modified = DateTimeFormatter.RFC_1123_DATE_TIME.format(now.atOffset(ZoneOffset.UTC));
    opened = Documents.time(now);
    this.work = work;
    uploads = new Uploads(clock, limits.uploadLife, limits.mostUploads);
    writes = new Writes(isDraining);
    reads = new Reads(modified);
    multipart = new Multipart(uploads, writes, limits.mostBytes, scheme, opened);
    listing = new Listing(work, opened);
  }

  /// Plans a request that was let in.
  ///
  /// @param prefix of the names of its user
  /// @param values of the space of its user and bucket
  /// @throws S3Exception if it wants what this door has not
  public Plan plan(HttpMethod method, HttpHeaders headers, Target target, String prefix, DoorValues values,
      DoorUses.Use use) {
    Ask ask = new Ask(method, headers, target, prefix, values, use);
    OTHERS.stream().filter(ask::has).findFirst().ifPresent(other -> refuse("parameter " + other));
    OTHER_HEADERS.stream().filter(headers::contains).findFirst().ifPresent(other -> refuse("header " + other));
    if (target.bucket().isEmpty()) {
      return requireRead(ask, () -> Mono.just(Reply.of(new Documents.BucketList(new Documents.Owner(use.user(),
          use.user()), List.of()))));
    }
    return target.isObject() ? ofObject(ask) : ofBucket(ask);
  }

  private static void refuse(String what) {
    throw new S3Exception(S3Code.NOT_IMPLEMENTED, what + " must be left out: this door has nothing for it (was given)");
  }

  private interface Late {
    Mono<Reply> reply();
  }

  private static Plan requireRead(Ask ask, Late late) {
    if (!ask.method().equals(HttpMethod.GET)) {
      throw wrongMethod(ask, "GET, which lists buckets");
    }
    return reading(Mono.defer(late::reply));
  }

  private static Plan reading(Mono<Reply> reply) {
    return new Plan.Answer(Plan.Does.READS, reply);
  }

  private static S3Exception wrongMethod(Ask ask, String rule) {
    return new S3Exception(S3Code.METHOD_NOT_ALLOWED, "method must be " + rule + " (was " + ask.method() + ")");
  }

  private Plan ofObject(Ask ask) {
    return switch (ask.method().name()) {
      case "GET" -> reading(ask.has("uploadId") ? multipart.list(ask) : reads.get(ask));
      case "HEAD" -> reading(reads.head(ask));
      case "PUT" -> new Plan.Store(ask.has("uploadId") || ask.has("partNumber")
          ? incoming -> multipart.part(ask, incoming)
          : incoming -> writes.put(ask, incoming));
      case "DELETE" -> ask.has("uploadId")
          ? new Plan.Answer(Plan.Does.WRITES, multipart.abort(ask))
          : new Plan.Answer(Plan.Does.REMOVES, deleted(ask));
      case "POST" -> posted(ask);
      default -> throw wrongMethod(ask, "GET, HEAD, PUT, POST or DELETE of an object");
    };
  }

  private Plan posted(Ask ask) {
    if (ask.has("uploads")) {
      return new Plan.Answer(Plan.Does.WRITES, multipart.begin(ask));
    } else if (ask.has("uploadId")) {
      return new Plan.Read(Plan.Does.WRITES, body -> multipart.complete(ask, body));
    }
    throw wrongMethod(ask, "PUT of an object, or POST with uploads or uploadId");
  }

  private static Mono<Reply> deleted(Ask ask) {
    return Mono.defer(() -> ask.values().remove(ask.name())).thenReturn(Reply.empty(204));
  }

  private Plan ofBucket(Ask ask) {
    return switch (ask.method().name()) {
      case "HEAD" -> reading(Mono.just(Reply.empty(200)));
      case "PUT" -> new Plan.Read(Plan.Does.WRITES, body -> Mono.just(
          Reply.empty(200).with("Location", "/" + ask.target().bucket()))); // any bucket is there
      case "GET" -> read(ask);
      case "POST" -> {
        if (!ask.has("delete")) {
          throw wrongMethod(ask, "GET, HEAD or PUT of a bucket, or POST with delete");
        }
        yield new Plan.Read(Plan.Does.REMOVES, body -> deleted(ask, body));
      }
      case "DELETE" -> throw wrongMethod(ask,
          "GET, HEAD or PUT of a bucket, or POST with delete: no bucket can be removed");
      default -> throw wrongMethod(ask, "GET, HEAD or PUT of a bucket, or POST with delete");
    };
  }

  private Plan read(Ask ask) {
    if (ask.has("location")) {
      return reading(Mono.fromSupplier(() -> Reply.of(new Documents.Location())));
    }
    return reading(ask.has("uploads") ? multipart.uploads(ask).subscribeOn(work) : listing.list(ask));
  }

  private static Mono<Reply> deleted(Ask ask, byte[] body) {
    return Mono.defer(() -> {
      Bodies.Deletion deletion = Bodies.deletion(body);
      List<Documents.DeletedKey> names = new ArrayList<>();
      if (!deletion.isQuiet()) {
        deletion.names().forEach(name -> names.add(new Documents.DeletedKey(Documents.carried(name))));
      }
      return Flux.fromIterable(deletion.names()).concatMap(name -> ask.values().remove(ask.nameOf(name)))
          .then(Mono.fromSupplier(() -> Reply.of(new Documents.Deleted(names))));
    });
  }

  /// Removes the parts of uploads whose life is over, or of all.
  public Mono<Void> endUploads(boolean all) {
    return Mono.defer(() -> Flux.fromIterable(uploads.endOld(all)).concatMap(Multipart::removed).then());
  }
}
