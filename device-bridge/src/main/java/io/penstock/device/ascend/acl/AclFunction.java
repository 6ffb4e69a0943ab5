package io.penstock.device.ascend.acl;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemoryLayout;

/// The functions of AscendCL that are called, by their C signatures: an enum is an `int`, `size_t` and handles are 64
/// bits. All but two answer an `aclError`.
public enum AclFunction {
  INIT("aclInit", true, ADDRESS),
  FINALIZE("aclFinalize", true),
  RECENT_MESSAGE("aclGetRecentErrMsg", FunctionDescriptor.of(ADDRESS), false),
  SOC_NAME("aclrtGetSocName", FunctionDescriptor.of(ADDRESS), false),
  SET_DEVICE("aclrtSetDevice", true, JAVA_INT),
  GET_DEVICE("aclrtGetDevice", true, ADDRESS),
  RESET_DEVICE("aclrtResetDevice", false, JAVA_INT),
  DEVICE_COUNT("aclrtGetDeviceCount", true, ADDRESS),
  LOGICAL_ID("aclrtGetLogicDevIdByUserDevId", false, JAVA_INT, ADDRESS),
  PHYSICAL_ID("aclrtGetPhyDevIdByLogicDevId", false, JAVA_INT, ADDRESS),
  MEMORY_INFO("aclrtGetMemInfo", false, JAVA_INT, ADDRESS, ADDRESS),
  CREATE_CONTEXT("aclrtCreateContext", true, ADDRESS, JAVA_INT),
  DESTROY_CONTEXT("aclrtDestroyContext", false, ADDRESS),
  SET_CONTEXT("aclrtSetCurrentContext", true, ADDRESS),
  GET_CONTEXT("aclrtGetCurrentContext", true, ADDRESS),
  CREATE_STREAM("aclrtCreateStream", true, ADDRESS),
  CREATE_STREAM_WITH_CONFIG("aclrtCreateStreamWithConfig", false, ADDRESS, JAVA_INT, JAVA_INT),
  DESTROY_STREAM("aclrtDestroyStream", true, ADDRESS),
  SYNCHRONIZE_STREAM("aclrtSynchronizeStream", true, ADDRESS),
  SYNCHRONIZE_STREAM_WITH_TIMEOUT("aclrtSynchronizeStreamWithTimeout", false, ADDRESS, JAVA_INT),
  ABORT_STREAM("aclrtStreamAbort", false, ADDRESS),
  MALLOC("aclrtMalloc", true, ADDRESS, JAVA_LONG, JAVA_INT),
  FREE("aclrtFree", true, ADDRESS),
  MALLOC_HOST("aclrtMallocHost", true, ADDRESS, JAVA_LONG),
  FREE_HOST("aclrtFreeHost", true, ADDRESS),
  POINTER_ATTRIBUTES("aclrtPointerGetAttributes", true, ADDRESS, ADDRESS),
  MEMCPY("aclrtMemcpy", true, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT),
  MEMCPY_ASYNC("aclrtMemcpyAsync", true, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT, ADDRESS),
  MEMCPY_BATCH("aclrtMemcpyBatch", true, ADDRESS, ADDRESS, ADDRESS, ADDRESS, JAVA_LONG, ADDRESS, ADDRESS, JAVA_LONG,
      ADDRESS),
  MALLOC_PHYSICAL("aclrtMallocPhysical", false, ADDRESS, JAVA_LONG, ADDRESS, JAVA_LONG),
  FREE_PHYSICAL("aclrtFreePhysical", false, ADDRESS),
  RESERVE_ADDRESS("aclrtReserveMemAddress", false, ADDRESS, JAVA_LONG, JAVA_LONG, ADDRESS, JAVA_LONG),
  RELEASE_ADDRESS("aclrtReleaseMemAddress", false, ADDRESS),
  MAP("aclrtMapMem", false, ADDRESS, JAVA_LONG, JAVA_LONG, ADDRESS, JAVA_LONG),
  UNMAP("aclrtUnmapMem", false, ADDRESS),
  EXPORT_FABRIC("aclrtMemExportToShareableHandleV2", false, ADDRESS, JAVA_LONG, JAVA_INT, ADDRESS),
  IMPORT_FABRIC("aclrtMemImportFromShareableHandleV2", false, ADDRESS, JAVA_INT, JAVA_LONG, ADDRESS),
  SET_ACCESS("aclrtMemSetAccess", false, ADDRESS, JAVA_LONG, ADDRESS, JAVA_LONG),
  IPC_EXPORT("aclrtIpcMemGetExportKey", false, ADDRESS, JAVA_LONG, ADDRESS, JAVA_LONG, JAVA_LONG),
  IPC_IMPORT("aclrtIpcMemImportByKey", false, ADDRESS, ADDRESS, JAVA_LONG),
  IPC_CLOSE("aclrtIpcMemClose", false, ADDRESS);

  private final String symbol;
  private final FunctionDescriptor signature;
  private final boolean required;

  AclFunction(String symbol, boolean required, MemoryLayout... arguments) {
    this(symbol, FunctionDescriptor.of(JAVA_INT, arguments), required);
  }

  AclFunction(String symbol, FunctionDescriptor signature, boolean required) {
    this.symbol = symbol;
    this.signature = signature;
    this.required = required;
  }

  public String symbol() {
    return symbol;
  }

  FunctionDescriptor signature() {
    return signature;
  }

  /// Whether nothing works without it; the others are features.
  boolean required() {
    return required;
  }
}
