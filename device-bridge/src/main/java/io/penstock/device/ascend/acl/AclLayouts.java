package io.penstock.device.ascend.acl;

import static java.lang.foreign.MemoryLayout.PathElement.groupElement;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemoryLayout;
import java.lang.foreign.StructLayout;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// The structs of AscendCL, written once: LP64, little-endian, as the headers have them.
public final class AclLayouts {
  /// The id precedes the type.
  public static final StructLayout LOCATION =
      MemoryLayout.structLayout(JAVA_INT.withName("id"), JAVA_INT.withName("type"))
          .withName("aclrtMemLocation");

  /// The destination precedes the source; the reserved bytes must be 0.
  public static final StructLayout BATCH_ATTRIBUTE =
      MemoryLayout.structLayout(LOCATION.withName("dstLoc"), LOCATION.withName("srcLoc"),
          MemoryLayout.sequenceLayout(16, JAVA_BYTE).withName("rsv")).withName("aclrtMemcpyBatchAttr");

  static final StructLayout POINTER_ATTRIBUTES =
      MemoryLayout.structLayout(LOCATION.withName("location"), JAVA_INT.withName("pageSize"),
          MemoryLayout.sequenceLayout(4, JAVA_INT).withName("rsv")).withName("aclrtPtrAttributes");

  static final StructLayout PHYSICAL_PROPERTIES = MemoryLayout.structLayout(JAVA_INT.withName("handleType"),
      JAVA_INT.withName("allocationType"), JAVA_INT.withName("memAttr"), LOCATION.withName("location"),
      MemoryLayout.paddingLayout(4),
      JAVA_LONG.withName("reserve")).withName("aclrtPhysicalMemProp");

  static final StructLayout FABRIC_HANDLE =
      MemoryLayout.structLayout(MemoryLayout.sequenceLayout(128, JAVA_BYTE).withName("data"))
          .withName("aclrtMemFabricHandle");

  static final StructLayout ACCESS =
      MemoryLayout.structLayout(JAVA_INT.withName("flags"), LOCATION.withName("location"),
          MemoryLayout.sequenceLayout(12, JAVA_BYTE).withName("rsv")).withName("aclrtMemAccessDesc");

  static final List<StructLayout> ALL =
      List.of(LOCATION, BATCH_ATTRIBUTE, POINTER_ATTRIBUTES, PHYSICAL_PROPERTIES, FABRIC_HANDLE, ACCESS);

  private AclLayouts() {}

  public static long offset(StructLayout struct, String field) {
    return struct.byteOffset(groupElement(field));
  }

  /// Size of each struct by its name, and offset of each field by `struct.field`, to compare with a library's own
  /// table.
  static Map<String, Long> sizesAndOffsets() {
    Map<String, Long> values = new LinkedHashMap<>();
    for (StructLayout struct : ALL) {
      String name = struct.name().orElseThrow();
      values.put(name, struct.byteSize());
      for (MemoryLayout member : struct.memberLayouts()) {
        member.name().ifPresent(field -> values.put(name + "." + field, offset(struct, field)));
      }
    }
    return values;
  }
}
