"""Takes an upload out of Streamlit's store, which would keep it as long as the session."""

from __future__ import annotations

import streamlit as st
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.uploaded_file_manager import DeletedFile

from ultr_core.errors import InputError, named
from ultr_core.limits import SMALL_UPLOAD, in_mb


def take(key: str, *, small: bool) -> tuple[str, bytes] | None:
    """Callback's part: name and bytes of what the uploader ``key`` brought, None if nothing.

    Raises InputError for a file that is too large, where only a ``small`` one is right: of that
    bound only the browser knows, and whoever sends a file need not be one. So it does for one that
    was announced and is not in the store, as after a connection was lost.
    """
    upload = st.session_state.get(key)
    if upload is None:
        return None
    if isinstance(upload, DeletedFile):
        raise InputError("The file did not arrive, or was dropped since; choose it again.")
    data = upload.getvalue()
    _forget(upload.file_id)
    if small:
        SMALL_UPLOAD.require(in_mb(len(data)), named(upload.name))
    return upload.name, data


def _forget(file_id: str) -> None:
    context = get_script_run_ctx()
    manager = None if context is None else context.uploaded_file_mgr
    if context is not None and isinstance(manager, MemoryUploadedFileManager):
        manager.remove_file(session_id=context.session_id, file_id=file_id)
