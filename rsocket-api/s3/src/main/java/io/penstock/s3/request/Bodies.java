package io.penstock.s3.request;

import static java.util.Objects.requireNonNullElse;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import io.penstock.s3.reply.S3Code;
import io.penstock.s3.reply.S3Exception;
import java.nio.charset.StandardCharsets;
import java.util.List;
import javax.xml.stream.XMLInputFactory;
import javax.xml.stream.XMLOutputFactory;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.dataformat.xml.XmlFactory;
import tools.jackson.dataformat.xml.XmlMapper;
import tools.jackson.dataformat.xml.annotation.JacksonXmlElementWrapper;
import tools.jackson.dataformat.xml.annotation.JacksonXmlProperty;

/// The documents in bodies of requests. They have no entities of their own, and are neither deep nor long.
public final class Bodies {
  /// Most bytes of a document.
  public static final int MOST_BYTES = 4 << 20;
  /// Most parts of an upload, and keys of a deletion times ten.
  public static final int MOST_PARTS = 10_000;
  private static final int MOST_KEYS = 1000;
  private static final int MOST_DEPTH = 8;
  private static final XmlMapper XML = XmlMapper.builder(new XmlFactory(input(), XMLOutputFactory.newFactory()))
      .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES).build();

  private Bodies() {}

  private static XMLInputFactory input() {
    XMLInputFactory input = XMLInputFactory.newFactory();
    input.setProperty(XMLInputFactory.SUPPORT_DTD, false);
    input.setProperty(XMLInputFactory.IS_SUPPORTING_EXTERNAL_ENTITIES, false);
    input.setProperty("com.ctc.wstx.maxElementDepth", MOST_DEPTH);
    input.setProperty("com.ctc.wstx.maxAttributesPerElement", MOST_DEPTH);
    input.setProperty("com.ctc.wstx.maxAttributeSize", MOST_KEYS);
    return input;
  }

  private static <T> T read(byte[] body, Class<T> type) {
    try {
      T read = XML.readValue(body, type);
      if (read != null) {
        return read;
      }
    } catch (JacksonException e) { // answered below
    }
    throw new S3Exception(S3Code.MALFORMED_XML, "body must be an XML document as the request wants it (was another)");
  }

  /// Parts of an upload, in the order of their numbers.
  ///
  /// @throws S3Exception if the document or the order is wrong
  public static List<Part> parts(byte[] body) {
    List<Part> parts = requireNonNullElse(read(body, Complete.class).parts(), List.of());
    if (parts.isEmpty() || parts.size() > MOST_PARTS) {
      throw new S3Exception(S3Code.MALFORMED_XML, "document must have 1 to " + MOST_PARTS + " parts (had "
          + parts.size() + ")");
    }
    for (int i = 1; i < parts.size(); i++) {
      if (parts.get(i).partNumber() <= parts.get(i - 1).partNumber()) {
        throw new S3Exception(S3Code.INVALID_PART_ORDER, "numbers of parts must ascend (did not)");
      }
    }
    return parts;
  }

  /// Names of the keys that are to be deleted.
  ///
  /// @throws S3Exception if the document is wrong
  public static Deletion deletion(byte[] body) {
    Delete document = read(body, Delete.class);
    List<Key> keys = requireNonNullElse(document.objects(), List.of());
    if (keys.isEmpty() || keys.size() > MOST_KEYS || keys.stream().anyMatch(each -> each.key() == null)) {
      throw new S3Exception(S3Code.MALFORMED_XML, "document must have 1 to " + MOST_KEYS + " keys (had "
          + keys.size() + ")");
    }
    return new Deletion(keys.stream().map(each -> KeyBytes.name(
        requireNonNullElse(each.key(), "").getBytes(StandardCharsets.UTF_8))).toList(),
        Boolean.TRUE.equals(document.quiet()));
  }

  /// @param names of the keys
  /// @param isQuiet whether the response is to name none of them
  public record Deletion(List<String> names, boolean isQuiet) {}

  @JsonIgnoreProperties(ignoreUnknown = true)
  private record Complete(@JacksonXmlElementWrapper(useWrapping = false) @JacksonXmlProperty(
      localName = "Part") @Nullable List<Part> parts) {}

  /// One part of an upload.
  ///
  /// @param eTag as the response to the part had it
  public record Part(@JacksonXmlProperty(localName = "PartNumber") int partNumber,
      @JacksonXmlProperty(localName = "ETag") @Nullable String eTag) {}

  private record Delete(@JacksonXmlElementWrapper(useWrapping = false) @JacksonXmlProperty(
      localName = "Object") @Nullable List<Key> objects,
      @JacksonXmlProperty(localName = "Quiet") @Nullable Boolean quiet) {}

  private record Key(@JacksonXmlProperty(localName = "Key") @Nullable String key) {}
}
