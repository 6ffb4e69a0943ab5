package io.penstock.s3.reply;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonRootName;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.PropertyNamingStrategies;
import tools.jackson.dataformat.xml.XmlMapper;
import tools.jackson.dataformat.xml.XmlWriteFeature;
import tools.jackson.dataformat.xml.annotation.JacksonXmlElementWrapper;
import tools.jackson.dataformat.xml.annotation.JacksonXmlProperty;

/// The documents of responses.
public final class Documents {
  private static final XmlMapper XML =
      XmlMapper.builder().propertyNamingStrategy(PropertyNamingStrategies.UPPER_CAMEL_CASE)
          .enable(XmlWriteFeature.WRITE_XML_DECLARATION)
          .changeDefaultPropertyInclusion(all -> all.withValueInclusion(JsonInclude.Include.NON_NULL)).build();

  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("yyyy-MM-dd'T'HH:mm:ss.SSS'Z'").withZone(ZoneOffset.UTC);

  private Documents() {}

  /// `document` as text in UTF-8.
  public static byte[] bytes(Object document) {
    return XML.writeValueAsBytes(document);
  }

  /// `moment` as documents have it.
  public static String time(Instant moment) {
    return TIME.format(moment);
  }

  /// Text as a document can carry it: characters that XML lacks become U+FFFD.
  public static String carried(String text) {
    StringBuilder carried = new StringBuilder(text.length());
    text.codePoints().map(each -> isCarried(each) ? each : 0xFFFD).forEach(carried::appendCodePoint);
    return carried.toString();
  }

  private static boolean isCarried(int each) {
    return each == '\t' || each == '\n' || each == '\r' || (each >= 0x20 && each <= 0xD7FF)
        || (each >= 0xE000 && each <= 0xFFFD) || each >= 0x10000;
  }

  /// A refusal.
  @JsonRootName("Error")
  public record Failure(String code, String message, String resource, String requestId) {}

  /// A page of a list of keys.
  @JsonRootName("ListBucketResult")
  public record KeyList(String name, String prefix, @Nullable String delimiter, int maxKeys, boolean isTruncated,
      @Nullable Integer keyCount, @Nullable String encodingType, @Nullable String startAfter,
      @Nullable String continuationToken, @Nullable String nextContinuationToken, @Nullable String marker,
      @Nullable String nextMarker,
      @JacksonXmlElementWrapper(useWrapping = false) @JacksonXmlProperty(localName = "Contents") List<Entry> contents,
      @JacksonXmlElementWrapper(useWrapping = false) @JacksonXmlProperty(
          localName = "CommonPrefixes") List<Prefix> commonPrefixes) {}

  /// An object of a list.
  public record Entry(String key, String lastModified, @JacksonXmlProperty(localName = "ETag") String eTag, long size,
      String storageClass) {}

  /// Keys with one beginning, as one.
  public record Prefix(String prefix) {}

  /// Where a bucket is; in no named region.
  @JsonRootName("LocationConstraint")
  public record Location() {}

  /// Buckets of a user.
  @JsonRootName("ListAllMyBucketsResult")
  public record BucketList(Owner owner, @JacksonXmlElementWrapper(localName = "Buckets") @JacksonXmlProperty(
      localName = "Bucket") List<Bucket> buckets) {}

  /// Who has them.
  public record Owner(@JacksonXmlProperty(localName = "ID") String id, String displayName) {}

  /// One bucket.
  public record Bucket(String name, String creationDate) {}

  /// A new upload in parts.
  @JsonRootName("InitiateMultipartUploadResult")
  public record NewUpload(String bucket, String key, String uploadId) {}

  /// An upload that became an object.
  @JsonRootName("CompleteMultipartUploadResult")
  public record Completed(String location, String bucket, String key,
      @JacksonXmlProperty(localName = "ETag") String eTag) {}

  /// Parts of an upload.
  @JsonRootName("ListPartsResult")
  public record PartList(String bucket, String key, String uploadId, int partNumberMarker,
      @Nullable Integer nextPartNumberMarker, int maxParts, boolean isTruncated, String storageClass,
      @JacksonXmlElementWrapper(useWrapping = false) @JacksonXmlProperty(localName = "Part") List<PartEntry> parts) {}

  /// Uploads in parts that have begun.
  @JsonRootName("ListMultipartUploadsResult")
  public record UploadList(String bucket, String keyMarker, String uploadIdMarker, @Nullable String nextKeyMarker,
      @Nullable String nextUploadIdMarker, String prefix, @Nullable String delimiter, @Nullable String encodingType,
      int maxUploads, boolean isTruncated,
      @JacksonXmlElementWrapper(useWrapping = false) @JacksonXmlProperty(
          localName = "Upload") List<UploadEntry> uploads,
      @JacksonXmlElementWrapper(useWrapping = false) @JacksonXmlProperty(
          localName = "CommonPrefixes") List<Prefix> commonPrefixes) {}

  /// One upload.
  public record UploadEntry(String key, String uploadId, String storageClass, String initiated) {}

  /// One part.
  public record PartEntry(int partNumber, String lastModified, @JacksonXmlProperty(localName = "ETag") String eTag,
      long size) {}

  /// Keys that were deleted.
  @JsonRootName("DeleteResult")
  public record Deleted(@JacksonXmlElementWrapper(useWrapping = false) @JacksonXmlProperty(
      localName = "Deleted") List<DeletedKey> deleted) {}

  /// One of them.
  public record DeletedKey(String key) {}
}
